import { expect, it } from 'vitest';
import { isEasilyGuessed, wordsAbout } from './guesses.ts';

const ADA = { email: 'ada.k@people.example', first_name: 'Ada', last_name: 'King-Lovelace' };

it.each([
  ['password1234', true],
  ['P@ssw0rd2024', true],
  ['qwertyuiop12', true],
  ['1q2w3e4r5t6y', true],
  ['abcdabcdabcd', true],
  ['12345678901234567890', true],
  ['Homeport2026!', true],
  ['Lovelace1234', true],
  ['peoplelovelace', true],
  ['drowssap4321', true],
  ['correct horse battery staple', false],
  ['lovelace and the engine', false],
  ['kX9#mQ2$vL7p', false],
  ['ein langer Satz von mir', false],
  [`${'password'.repeat(8)} and so on`, true],
] as const)('%j is easily guessed: %s', async (password, guessed) => {
  expect(await isEasilyGuessed(password, ADA)).toBe(guessed);
});

it('splits what is known of the owner into words', () => {
  expect(wordsAbout(ADA)).toEqual([
    'homeport',
    'ada.k@people.example',
    'ada.k',
    'people.example',
    'ada',
    'king-lovelace',
    'people',
    'example',
    'king',
    'lovelace',
  ]);
});

it('limits the number of words, whatever the name', () => {
  const names = (letter: string) =>
    Array.from({ length: 20 }, (_, index) => `${letter}${index + 100}`).join(' ');
  const words = wordsAbout({ ...ADA, first_name: names('a'), last_name: names('b') });
  expect(words).toHaveLength(20);
  expect(words).toContain('homeport');
});

it('does not block the event loop', async () => {
  await isEasilyGuessed('the dictionaries are loaded by now', ADA);
  let judged = false;
  let turns = 0;
  const turn = () => {
    turns++;
    if (!judged) setImmediate(turn);
  };
  setImmediate(turn);
  // A slow case: every character may stand for another letter or begin a date.
  await isEasilyGuessed('p4ssw0r[!1990qwertyp4ssw0rd!1991/1/20vv4ssw0rd!1b91/1/20yp4ssw0r', ADA);
  judged = true;
  expect(turns).toBeGreaterThan(20);
});

it('rates concurrent passwords separately', async () => {
  const passwords = ['password1234', 'correct horse battery staple', 'qwertyuiop12', 'kX9#mQ2$vL7p'];
  expect(await Promise.all(passwords.map((password) => isEasilyGuessed(password, ADA)))).toEqual([
    true,
    false,
    true,
    false,
  ]);
});
