import { expect, test } from 'vitest';
import { sharedAnswers } from './shared-answer.ts';

test('an object is presented, serialised and tagged once', () => {
  const answerOf = sharedAnswers(({ name }: { name: string }) => ({ name }));
  const shop = { name: 'shop' };
  const texts: string[] = [];
  const serialize = (body: { name: string }) => {
    texts.push(body.name);
    return JSON.stringify(body);
  };
  const answer = answerOf(shop);
  const text = answer.text(serialize);
  expect(answerOf(shop)).toBe(answer);
  expect(answer.text(serialize)).toBe(text);
  expect(answer.tag(text)).toBe(answer.tag(text));
  expect(texts).toEqual(['shop']);
});

test('another object has an answer of its own', () => {
  const answerOf = sharedAnswers(({ name }: { name: string }) => ({ name }));
  const [before, after] = [answerOf({ name: 'shop' }), answerOf({ name: 'store' })];
  const [first, second] = [before.text(JSON.stringify), after.text(JSON.stringify)];
  expect([first, second]).toEqual(['{"name":"shop"}', '{"name":"store"}']);
  expect(before.tag(first)).not.toBe(after.tag(second));
});
