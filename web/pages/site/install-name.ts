const SHORTEST = 3;
const LONGEST = 40;

export const INSTALL_NAME_RULE =
  '3 to 40 lower-case letters, digits and hyphens, beginning with a letter. You cannot change it later.';

/** Returns what is wrong with the name of a new install while the user types; null if it is valid or empty. */
export function installNameError(name: string): string | null {
  if (name === '') return null;
  if (/[A-Z]/.test(name)) return 'Use lower-case letters only.';
  if (!/^[a-z]/.test(name)) return 'Begin with a letter.';
  const invalid = name.match(/[^a-z0-9-]/u)?.[0];
  if (invalid !== undefined) {
    return invalid === ' ' ? 'Remove the space.' : `The character “${invalid}” is not allowed.`;
  }
  if (name.length < SHORTEST) return `At least ${SHORTEST} characters.`;
  if (name.length > LONGEST) return `At most ${LONGEST} characters. The name has ${name.length}.`;
  return name.endsWith('-') ? 'End with a letter or a digit.' : null;
}
