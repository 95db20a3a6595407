import { expect, it } from 'vitest';
import { weaknessOf } from './rules.ts';

it.each([
  ['aaaaaaaaaaaa', 'ada@people.example', 'too_simple'],
  ['abcabcabcabc', 'ada@people.example', 'too_simple'],
  ['aAbBaAbBcCcC', 'ada@people.example', 'too_simple'],
  ['ａaａaａaａaｂbｃc', 'ada@people.example', 'too_simple'],
  ['abcdabcdabcd', 'ada@people.example', null],
  ['Ada@People.example', 'ada@people.example', 'like_email'],
  ['my ada@people.example', 'ADA@people.example', 'like_email'],
  ['ada bob ada ada', 'ada@people.example', null],
  ['Lovelace1234', 'lovelace@people.example', 'like_email'],
  ['lovelacelovelace', 'lovelace@people.example', 'like_email'],
  ['lovelace and the engine', 'lovelace@people.example', null],
  ['owner-localhost', 'owner@localhost', null],
  ['owner@localhost', 'owner@localhost', 'like_email'],
  ['correct horse battery staple', 'ada@people.example', null],
] as const)('%j of %s: %s', (password, email, code) => {
  expect(weaknessOf(password, email)?.code ?? null).toBe(code);
});
