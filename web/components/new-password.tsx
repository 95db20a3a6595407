import { FormError } from '../api/failure.ts';
import { TextField } from './fields.tsx';
import { textOf } from './form.tsx';

/** Limits of the server (src/features/identity/passwords/rules.ts). */
const SHORTEST = 12;
const LONGEST = 256;

/** Fields for a new password and its confirmation. */
export function NewPasswordFields({ label = 'New password' }: { label?: string }) {
  const common = {
    type: 'password',
    autoComplete: 'new-password',
    required: true,
    minLength: SHORTEST,
    maxLength: LONGEST,
  };
  return (
    <>
      <TextField
        {...common}
        label={label}
        name="password"
        hint={`At least ${SHORTEST} characters. Several unrelated words make a strong password.`}
      />
      <TextField {...common} label="Confirm password" name="repeated" />
    </>
  );
}

/** Returns the new password. Throws FormError if the confirmation differs. */
export function newPasswordOf(values: FormData): string {
  const password = textOf(values, 'password');
  if (password !== textOf(values, 'repeated')) {
    const message = 'The passwords do not match';
    throw new FormError(`${message}.`, [{ field: 'repeated', message }]);
  }
  return password;
}
