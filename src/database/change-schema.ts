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

/** The same as text, which whoever may use the database can send on the channel: undefined if it is no change. */
export function parseChangeText(text: string): DatabaseChange | undefined {
  try {
    return parseChange(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A change as the triggers spell it; undefined if a newer Homeport has put one there that this one does not know. */
export function parseChange(value: unknown): DatabaseChange | undefined {
  if (!Value.Check(changeSchema, value)) return undefined;
  const { topic, account_id, install_id, id, user_id } = value;
  return { topic, account_id, install_id, id, user_id };
}
