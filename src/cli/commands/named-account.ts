import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';

interface NamedAccount {
  id: string;
  name: string;
}

/** The one account that is meant by its id or its name. Throws OperatorError. */
export function namedAccount(accounts: NamedAccount[], text: string): NamedAccount {
  const id = parseUuid(text);
  const meant = accounts.filter((account) => (id === undefined ? account.name === text : account.id === id));
  const [account] = meant;
  if (account && meant.length === 1) return account;
  throw new OperatorError(
    account
      ? `There are ${meant.length} accounts called "${text}"; give the id of one ("homeport account list").`
      : `There is no account ${id ?? `"${text}"`}; "homeport account list" shows them all.`,
  );
}
