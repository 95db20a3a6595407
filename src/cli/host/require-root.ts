import { OperatorError } from '../../lib/operator-error.ts';

/** Throws OperatorError for anybody but root. */
export function requireRoot(command: string): void {
  if (process.getuid?.() === 0) return;
  throw new OperatorError(
    `"${command}" needs root: it makes users, and runs the daemons of the websites. Use sudo.`,
  );
}
