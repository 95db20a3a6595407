import { ApiFailure, FormError } from '../../../api/failure.ts';
import { TextField } from '../../../components/fields.tsx';
import { textOf } from '../../../components/form.tsx';
import { useSession } from '../../../session/session.ts';
import { addressErrors, readAddresses } from './backup-labels.ts';

const NAME = 'notification_emails';

/** The addresses that are emailed at the end. `when` names the end: "the backup finishes or fails". */
export function NotificationEmailsField({ when }: { when: string }) {
  const { user } = useSession();
  return (
    <TextField
      label="Notify by email"
      name={NAME}
      hint={`We email these addresses when ${when}. Optional; separate addresses with commas.`}
      defaultValue={user.email}
    />
  );
}

/** Sends a request with the addresses of the form. An error names an invalid address itself. */
export async function withAddresses<Answer>(
  values: FormData,
  send: (addresses: string[]) => Promise<Answer>,
): Promise<Answer> {
  const addresses = readAddresses(textOf(values, NAME));
  try {
    return await send(addresses);
  } catch (error) {
    throw withAddressesNamed(error, addresses);
  }
}

/** The server's errors only have the index of an address. This names the address itself. */
function withAddressesNamed(error: unknown, addresses: readonly string[]): unknown {
  if (!(error instanceof ApiFailure)) return error;
  const errors = addressErrors(error.fieldErrors, addresses);
  if (errors === null) return error;
  const invalid = errors.filter(({ field }) => field === NAME);
  return new FormError(invalid.map(({ message }) => message).join(' '), errors);
}
