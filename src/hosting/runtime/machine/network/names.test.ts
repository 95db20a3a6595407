import { decode, encode, RECURSION_DESIRED } from 'dns-packet';
import { expect, test } from 'vitest';
import { createStandInNames } from './names.ts';

const ask = (name: string, type: 'A' | 'AAAA' | 'MX' = 'A') =>
  encode({ type: 'query', id: 7, flags: RECURSION_DESIRED, questions: [{ type, name }] });

/** The addresses of an answer. */
function addresses(answer: Buffer | null): unknown[] {
  if (answer === null) throw new Error('no answer');
  const { id, type, questions, answers = [] } = decode(answer);
  expect({ id, type, asked: questions?.length }).toEqual({ id: 7, type: 'response', asked: 1 });
  return answers.map((record) => ('data' in record ? record.data : null));
}

test('answers with an address that stands for the name, in any case of its letters', () => {
  const names = createStandInNames();
  expect(addresses(names.answer(ask('Smtp.Example.com')))).toEqual(['198.18.0.1']);
  expect(addresses(names.answer(ask('smtp.example.com')))).toEqual(['198.18.0.1']);
  expect(names.nameOf('198.18.0.1')).toBe('smtp.example.com');
  expect(addresses(names.answer(ask('localhost')))).toEqual(['127.0.0.1']);
  expect(names.nameOf('127.0.0.1')).toBeUndefined();
  expect(addresses(names.answer(ask('smtp.example.com', 'AAAA')))).toEqual([]);
});

test('forgets the oldest of many names', () => {
  const names = createStandInNames();
  for (let number = 0; number <= 4_096; number += 1) names.answer(ask(`n${number}.example`));
  expect(names.nameOf('198.18.0.1')).toBe('n4096.example');
  expect(names.nameOf('198.18.0.2')).toBe('n1.example');
  expect(addresses(names.answer(ask('n0.example')))).toEqual(['198.18.0.2']);
});

test('ignores what is no query', () => {
  const names = createStandInNames();
  const good = ask('a.example');
  for (let bytes = 0; bytes < good.length; bytes += 1)
    expect(names.answer(good.subarray(0, bytes))).toBeNull();
  const pointer = Buffer.from(good);
  pointer[12] = 0xc0;
  const response = Buffer.from(good);
  response[2] = 0x80;
  const endless = ask(`${'a.'.repeat(126)}a`);
  const tooLong = Buffer.concat([
    endless.subarray(0, 12),
    ask(`${'b'.repeat(60)}.`.repeat(4)).subarray(12, 200),
    endless.subarray(12),
  ]);
  for (const query of [pointer, response, tooLong]) expect(names.answer(query)).toBeNull();
  expect(names.nameOf('198.18.0.1')).toBeUndefined();
});
