/** A problem that the operator can fix. The message says what is wrong and what to do; nothing else is printed. */
export class OperatorError extends Error {
  override name = 'OperatorError';
}
