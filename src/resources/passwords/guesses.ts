/** Whom a password is for: their address and names are among the first guesses. */
export interface PasswordOwner {
  email: string;
  first_name: string;
  last_name: string;
}

/**
 * The lowest score of zxcvbn that is taken: 3 stands for 10^8 guesses or more. The 100 a minute that signing in allows for one person
 * from everywhere need two years for these, and one week for the 10^6 of score 2.
 */
const LOWEST_SCORE = 3;

/**
 * So many characters are looked at, since the time grows faster than the length: a tenth of a second for these, and half of one on a
 * busy machine, in which the process does nothing else. Who begins with 64 characters that are easily guessed is asked for another password.
 */
const LOOKED_AT = 64;

/** Whether a password is one of those that are tried first: a common one, a pattern, or made of what is known of its owner. */
export async function isEasilyGuessed(password: string, owner: PasswordOwner): Promise<boolean> {
  const { check } = await estimator();
  return check(password.normalize('NFKC'), wordsAbout(owner)).score < LOWEST_SCORE;
}

/** Each word takes time, however little it says. */
const MOST_WORDS = 20;
const SHORTEST_WORD = 3;

/** What somebody would try first who knows whom it is for. */
export function wordsAbout({ email, first_name, last_name }: PasswordOwner): string[] {
  const parts = [email, first_name, last_name].flatMap((text) => text.split(/[^\p{L}\p{N}]+/u));
  const words = ['homeport', email, ...email.split('@'), first_name, last_name, ...parts].map((word) =>
    word.toLowerCase(),
  );
  return [...new Set(words)].filter((word) => word.length >= SHORTEST_WORD).slice(0, MOST_WORDS);
}

type Estimator = Pick<import('@zxcvbn-ts/core').ZxcvbnFactory, 'check'>;
let loaded: Promise<Estimator> | undefined;

/** Loaded when the first password is chosen: the words take 30 MB, and half a second to read. */
function estimator(): Promise<Estimator> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<Estimator> {
  const [{ ZxcvbnFactory }, { adjacencyGraphs, dictionary }] = await Promise.all([
    import('@zxcvbn-ts/core'),
    import('@zxcvbn-ts/language-common'),
  ]);
  const factory = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs, maxLength: LOOKED_AT });
  return { check: (password, words) => factory.check(password, words) };
}
