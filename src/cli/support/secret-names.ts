const PARTS =
  /pass(word|wd|phrase|code)|pwd|secret|token|authori[sz]ation|cookie|signature|credential|(api|access|private|sealing|signing|auth|encryption)[-_]?key/i;
/** Sentences have these words, too. */
const WHOLE = /^-*(pass|key|auth)$/i;
/** What is about a secret. */
const ABOUT = [/[_-](file|path|count|at|id)s?$/i, /[a-z](File|Path|Count|At|Id)s?$/];

/** Whether what has this name is a secret. `sign`: what is between name and value. */
export function isSecretName(name: string, sign = '='): boolean {
  if (ABOUT.some((pattern) => pattern.test(name))) return false;
  return PARTS.test(name) || (WHOLE.test(name) && /["'=]/.test(sign));
}
