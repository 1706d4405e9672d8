"""Function words of German, French and Spanish, which are never corrected.

Complete by class, not by frequency: the articles, pronouns and question words with their forms, prepositions,
conjunctions, auxiliary and modal verbs in present and past, and the adverbs of degree, place, time and negation that
answer no question by themselves. Only those of four letters and more: shorter ones are never repaired. English ones
are among the words of the bundled model.
"""

from panorama.domain.text.tokens import fold_keep_offsets

_GERMAN = """
dein deine deinem deinen deiner deines deren derer dessen denen dich diese diesem diesen dieser dieses eine einem einen
einer eines euch euer eure eurem euren eurer ihnen ihre ihrem ihren ihrer ihres jede jedem jeden jeder jedes jedermann
jemand jemandem jemanden jene jenem jenen jener jenes kein keine keinem keinen keiner keines mein meine meinem meinen
meiner meines mich niemand niemandem niemanden sein seine seinem seinen seiner seines selber selbst sich solch solche
solchem solchen solcher solches unser unsere unserem unseren unserer unseres welch welche welchem welchen welcher
welches alle allem allen aller alles andere anderem anderen anderer anderes beide beiden beider beides einige einigem
einigen einiger einiges etliche etwas manch manche manchem manchen mancher manches mehr mehrere mehreren mehrerer meist
meiste meisten nichts samt sämtliche sämtlichen viel viele vielen vieler vieles weniger wenig wenige wenigen weniges
wann warum weshalb weswegen wessen wieso wieviel wofür woher wohin womit wonach woran worauf woraus worin worüber worum
wovon wovor wozu wodurch wogegen wobei
anhand anstatt außer außerdem außerhalb beim binnen bezüglich dank durch entgegen entlang gegen gegenüber gemäß hinter
innerhalb laut mangels mittels nach neben oberhalb ohne seit seitens statt trotz über unter unterhalb vorm wegen während
wider zufolge zuliebe zwecks zwischen
aber allerdings also anstelle bevor dadurch dafür dagegen daher dahin damit danach daneben dann daran darauf daraus
darin darüber darum darunter davon davor dazu dazwischen dass denn dennoch deshalb desto deswegen doch ehe entweder
falls ferner folglich indem indes indessen jedoch nachdem nämlich obgleich obschon obwohl oder sobald sodass sofern
solange somit sondern sonst sooft soviel soweit sowie sowohl trotzdem umso vielmehr weder weil wenn wenngleich wobei
zudem zumal zwar
bist sind seid wäre wären wärst gewesen waren warst wart habe haben habt hast hatte hatten hattest hattet hätte hätten
hättest gehabt werde werden werdet wirst wird wurde wurden wurdest würde würden würdest worden geworden kann kannst
können könnt konnte konnten könnte könnten könntest gekonnt darf darfst dürfen dürft durfte durften dürfte dürften mag
magst mögen mögt mochte mochten möchte möchten möchtest muss musst müssen müsst musste mussten müsste müssten soll
sollst sollen sollt sollte sollten solltest will willst wollen wollt wollte wollten wolltest lass lasse lassen lässt
auch bald beinahe bereits besonders bisher bloß dabei damals dort dorthin eben ebenfalls ebenso eher eigentlich einmal
endlich erst fast freilich ganz gar genau genug gern gerne gerade gestern gleich heute hier hierher hierhin hinein
immer immerhin inzwischen irgend irgendein irgendeine irgendwann irgendwas irgendwer irgendwie irgendwo jemals jetzt
kaum keinesfalls keineswegs längst manchmal mehrmals meistens mindestens möglichst morgen nachher nicht niemals
nirgends noch nochmal oben oftmals recht schließlich schon sehr seither selten sofort sogar somit später stets übrigens
überall überhaupt ungefähr unten vielleicht vorher vorhin wahrscheinlich weiter weiterhin wieder wirklich wohl
ziemlich zuerst zuletzt zumindest zunächst zurück zusammen
"""
_FRENCH = """
aucun aucune autre autres celle celles celui certains certaine certaines ceux chacun chacune chaque cela cette elle
elles leur leurs lequel laquelle lesquels lesquelles même mêmes notre nous plusieurs quel quelle quelles quels quelque
quelques quelqu quoi rien telle telles tels tous tout toute toutes votre vous combien comment dont pourquoi quand
après avant avec chez contre dans depuis derrière devant durant entre hors jusque malgré outre parmi pendant pour sans
sauf selon sous vers voici voilà ainsi alors aussi autant bien cependant comme donc lorsque mais néanmoins pourtant
puis puisque quoique sinon soit étais était étaient être êtes avait avaient avez avons avoir furent sera seront serait
sommes sont aurait auront peut peuvent pouvoir doit doivent devoir faut veut veulent assez aujourd beaucoup bientôt
déjà demain encore enfin ensuite hier ici jamais maintenant moins parfois partout peut-être plus plutôt presque souvent
surtout tant tard toujours très trop
"""
_SPANISH = """
algo alguien algún alguna algunas alguno algunos ambos aquel aquella aquellas aquello aquellos cada cual cuales
cualquier cuya cuyas cuyo cuyos ella ellas ellos esas esos esta estas este esto estos misma mismas mismo mismos mucha
muchas mucho muchos nada nadie ningún ninguna ninguno nosotros nuestra nuestras nuestro nuestros otra otras otro otros
poca pocas poco pocos quien quienes suya suyo tanta tanto toda todas todo todos unas unos usted ustedes varias varios
adónde cómo cuál cuándo cuánta cuántas cuánto cuántos dónde quién qué ante bajo contra desde durante entre hacia hasta
mediante para según sobre tras aunque como cuando donde mientras pero porque pues sino siquiera eran eres están estaba
estaban estado estar está estoy fueron fuera haber había habían hace hacen hacer puede pueden poder debe deben deber
tiene tienen tener quiere será serán sería somos también tampoco además ahora allí antes apenas aquí aún bastante bien
casi después entonces hoy jamás luego mañana menos muy nunca quizás siempre solo tarde todavía
"""

FUNCTION_WORDS = frozenset(fold_keep_offsets(word) for word in (_GERMAN + _FRENCH + _SPANISH).split() if len(word) > 3)
