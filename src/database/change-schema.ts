import Type from 'typebox';
import { Value } from 'typebox/value';
import { type DatabaseChange, TOPICS } from './change-feed.ts';

const nullableText = Type.Union([Type.String(), Type.Null()]);

const changeSchema = Type.Object({
  topic: Type.Union(TOPICS.map((topic) => Type.Literal(topic))),
  account_id: Type.String(),
  install_id: nullableText,
  id: nullableText,
  user_id: nullableText,
});

/** Parses the text of a notification, which any database user can send on the channel. Undefined if it is not a change. */
export function parseChangeText(text: string): DatabaseChange | undefined {
  try {
    return parseChange(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A change as written by the triggers; undefined if a newer Homeport wrote a kind that this version does not know. */
export function parseChange(value: unknown): DatabaseChange | undefined {
  if (!Value.Check(changeSchema, value)) return undefined;
  const { topic, account_id, install_id, id, user_id } = value;
  return { topic, account_id, install_id, id, user_id };
}
