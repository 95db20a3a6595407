/** Asks somebody whether they mean to leave; false: they stay. */
type Question = () => Promise<boolean>;

let question: Question | null = null;

/** From now on `asked` is put before anybody signs out, until the returned function is called: something would be lost. */
export function guardSignOut(asked: Question): () => void {
  question = asked;
  return () => {
    if (question === asked) question = null;
  };
}

/** Whether whoever is about to sign out means it, where something would be lost by it. */
export const confirmSignOut: Question = async () => question === null || question();
