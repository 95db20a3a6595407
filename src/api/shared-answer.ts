import { entityTag } from './entity-tags.ts';

/** An answer that several requests get. Its text and its entity tag are made once, for the first of them. */
export class SharedAnswer<Body> {
  readonly body: Body;
  #text: string | undefined;
  #tag: string | undefined;

  constructor(body: Body) {
    this.body = body;
  }

  /** The serialised body. `serialize` must be the same for all requests. */
  text(serialize: (body: Body) => string): string {
    this.#text ??= serialize(this.body);
    return this.#text;
  }

  /** The entity tag of its text. */
  tag(text: string): string {
    this.#tag ??= entityTag(text);
    return this.#tag;
  }
}

/** Creates a function that returns the same answer for the same object, which must not change. */
export function sharedAnswers<Source extends object, Body>(
  present: (source: Source) => Body,
): (source: Source) => SharedAnswer<Body> {
  const answers = new WeakMap<Source, SharedAnswer<Body>>();
  return (source) => {
    let answer = answers.get(source);
    if (answer === undefined) {
      answer = new SharedAnswer(present(source));
      answers.set(source, answer);
    }
    return answer;
  };
}
