const listed = new Intl.ListFormat('en', { type: 'conjunction' });

/** Names the accounts that require a second factor: "The account Shop", "Each of your accounts Shop and Blog". */
export function accountNames(names: readonly string[]): string {
  if (names.length === 0) return 'One of your accounts';
  return names.length === 1 ? `The account ${names[0]}` : `Each of your accounts ${listed.format(names)}`;
}
