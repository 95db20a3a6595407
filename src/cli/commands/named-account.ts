import { parseUuid } from '../../lib/ids.ts';
import { OperatorError } from '../../lib/operator-error.ts';

interface NamedAccount {
  id: string;
  name: string;
}

/** Finds an account by id or name. Throws OperatorError without exactly one match. */
export function namedAccount(accounts: NamedAccount[], text: string): NamedAccount {
  const id = parseUuid(text);
  const meant = accounts.filter((account) => (id === undefined ? account.name === text : account.id === id));
  const [account] = meant;
  if (account && meant.length === 1) return account;
  throw new OperatorError(
    account
      ? `There are ${meant.length} accounts named "${text}". Use the id of one ("homeport account list").`
      : `There is no account ${id ?? `"${text}"`}; list them with "homeport account list".`,
  );
}
