const listed = new Intl.ListFormat('en', { type: 'conjunction' });

/** "The account Shop", "Each of your accounts Shop and Blog": which of them demand a second factor. */
export function accountsInWords(names: readonly string[]): string {
  if (names.length === 0) return 'One of your accounts';
  return names.length === 1 ? `The account ${names[0]}` : `Each of your accounts ${listed.format(names)}`;
}
