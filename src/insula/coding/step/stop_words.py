"""Small words of eight languages, which say nothing of what is asked for."""

LIGHT = frozenset(
    (
        "the a an to of in on at by for with and or but is are was were be been it its this that these those we "
        "you i he she they our your my me us them there here do does did not no don't dont don never can could "
        "should would will shall may might must have has had just only also so then than very really please "
        "maybe let's lets let as if what which who how why when any some el la los las un una de del en y o que "
        "es son por para con se lo le su te tu al les des du et ou est sont ne pas pour avec dans sur ce cette il "
        "elle je nous vous au aux une der die das den dem ein eine einen und oder ist sind nicht kein keine zu im "
        "auf mit für von wir ich bitte os um uma da dos e em na não com isso gli di della che è non per si "
    ).split()
)
"""Words that say nothing of what is asked for."""

GENERIC = frozenset(
    (
        "use using run running make making put keep write add do doing want need always please thing things way "
        "first "
        "before after all every more only when remember check next time now future touch file files code change "
        "edit ask asking tell new same other "
        "usa usar uses ejecuta ejecutar ejecutes haz hacer hagas siempre antes preguntar preguntarme "
        "utilise utiliser lance lancer fais faire toujours avant demander "
        "nimm nehmen verwende verwenden benutze benutzen führ ausführen mach machen immer vor bitte fragen laufen "
        "lassen "
        "use usar rode rodar faça fazer sempre antes perguntar usamos usiamo utilisons "
        "toques toque tocar ficheros archivos arquivos fichiers dateien anfassen fass fasse touche toucher tocca "
        "toccare cambiar ändern "
        "usare esegui eseguire fai fare sempre prima chiedere"
    ).split()
)
"""Words that every correction may hold."""

DENIALS = frozenset(
    (
        "not no don't dont never without stop avoid isn't aren't can't cannot shouldn't mustn't nothing nobody "
        "unless "
        "unasked doesn't won't neither nor instead rather "
        "nunca jamás jamas sin evita tampoco nada "
        "ne pas jamais sans évite rien ni "
        "ungefragt nicht nie niemals kein keine keinen keinem keiner ohne statt anstatt nichts "
        "não nao jamais sem evite nem nunca "
        "non mai senza evita niente né "
        "不要 别 勿 禁止 不准 不许 不能 不得 不可 不是 没有 不用 ない ません やめ 禁止 なく だめ"
    ).split()
)
"""Words behind which what is said is not wanted."""

SPOILERS = frozenset("too demasiado demasiada trop allzu viel troppo".split())
"""Words by which a whole clause says that something is not wanted ("the tests are too slow")."""
