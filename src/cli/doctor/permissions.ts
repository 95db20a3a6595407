/** Permission bits of a file's mode for others. */
export const OTHERS = 0o007;
/** The same for its group. */
export const GROUP = 0o070;

/** A mode as chmod takes it. */
export function octal(mode: number): string {
  return (mode & 0o777).toString(8).padStart(3, '0');
}
