import { InvalidArgumentError } from 'commander';
import { parseUuid } from '../../lib/ids.ts';
import { hasControlCharacter, LONGEST_NAME } from '../../lib/one-line.ts';

/** For commander: an id, in its canonical form. */
export function idArgument(text: string): string {
  const id = parseUuid(text);
  if (id === undefined) {
    throw new InvalidArgumentError('It must be an id like 1e6a4c0e-6f0f-4d1e-9d0b-2f1f3f5a7c11.');
  }
  return id;
}

/** For commander: a name for people to read, without white space around it. */
export function nameArgument(text: string): string {
  const name = text.trim();
  if (name === '') throw new InvalidArgumentError('It must not be empty.');
  if ([...name].length > LONGEST_NAME) {
    throw new InvalidArgumentError(`It must not be longer than ${LONGEST_NAME} characters.`);
  }
  if (hasControlCharacter(name)) {
    throw new InvalidArgumentError('It must be one line of text without control characters.');
  }
  return name;
}

/** For commander: an option that may be given several times. */
export function collect(text: string, earlier: string[] = []): string[] {
  return [...earlier, text];
}
