/**
 * The name of a query parameter as PHP reads it: decoded, without leading spaces, up to a NUL, with `_` for spaces and dots
 * (`php_register_variable_ex`). Brackets of arrays stay. `parameter`: the text between two `&`.
 */
export function phpName(parameter: string): string {
  const [raw = ''] = parameter.split('=', 1);
  const [name = ''] = decoded(raw.replaceAll('+', ' ')).split('\0', 1);
  return name.replace(/^ +/, '').replaceAll(/[ .]/g, '_');
}

/** Decodes `%XX` byte by byte; any other `%` stays. */
export function decoded(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}
