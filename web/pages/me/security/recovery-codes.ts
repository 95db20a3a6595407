/** The codes as a text file, which says what it is to whoever finds it again years later. */
export function recoveryCodesFile(
  codes: readonly string[],
  { email, host }: { email: string; host: string },
): string {
  return [
    `Recovery codes for the Homeport portal at ${host}, for ${email}.`,
    'Each works once, in place of a code of the app. Keep them where nobody else finds them.',
    '',
    ...codes,
    '',
  ].join('\n');
}
