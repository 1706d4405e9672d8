"""Operations on people and teams."""
