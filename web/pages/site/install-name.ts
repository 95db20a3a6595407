const SHORTEST = 3;
const LONGEST = 40;

export const INSTALL_NAME_RULE =
  'Lower-case letters, digits and hyphens, 3 to 40 of them, beginning with a letter. It never changes.';

/** What is wrong with the name of a new install, said as it is typed; null: nothing that can be known before it is asked for. */
export function installNameFault(name: string): string | null {
  if (name === '') return null;
  if (/[A-Z]/.test(name)) return 'Use lower-case letters only.';
  if (!/^[a-z]/.test(name)) return 'Begin with a letter.';
  const strange = name.match(/[^a-z0-9-]/u)?.[0];
  if (strange !== undefined) {
    return strange === ' ' ? 'Leave the space out.' : `“${strange}” cannot be in a name.`;
  }
  if (name.length < SHORTEST) return `At least ${SHORTEST} characters.`;
  if (name.length > LONGEST) return `At most ${LONGEST} characters; these are ${name.length}.`;
  return name.endsWith('-') ? 'End with a letter or a digit.' : null;
}
