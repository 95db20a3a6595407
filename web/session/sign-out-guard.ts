/** Asks the user to confirm; resolves to false if they stay. */
type Question = () => Promise<boolean>;

let question: Question | null = null;

/**
 * Asks `asked` before each sign-out until the returned function is called, because signing out would lose something.
 */
export function guardSignOut(asked: Question): () => void {
  question = asked;
  return () => {
    if (question === asked) question = null;
  };
}

/** Resolves to whether the sign-out may continue. */
export const confirmSignOut: Question = async () => question === null || question();
