/** Returns the codes as a text file that explains what they are for. */
export function recoveryCodesFile(
  codes: readonly string[],
  { email, host }: { email: string; host: string },
): string {
  return [
    `Recovery codes for the Homeport portal at ${host}, for ${email}.`,
    'Each code works once, in place of a code from the app. Keep them in a safe place.',
    '',
    ...codes,
    '',
  ].join('\n');
}
