/**
 * What the person who runs Homeport can mend: the message says what is wrong and what to do, and is all that is printed.
 */
export class OperatorError extends Error {
  override name = 'OperatorError';
}
