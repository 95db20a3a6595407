import { OperatorError } from '../../lib/operator-error.ts';

/** Throws OperatorError for users other than root. */
export function requireRoot(command: string): void {
  if (process.getuid?.() === 0) return;
  throw new OperatorError(
    `"${command}" needs root, because it changes the machine: packages, users and services. Use sudo.`,
  );
}
