import { expect, test } from 'vitest';
import { sandboxWalls, sharedUser } from './walls.ts';

const MACHINE = 'net:[4026531840]';
const weak = (found: string) =>
  sandboxWalls(found, MACHINE).flatMap(({ name, weakness }) => (weakness === null ? [] : [name]));

test('all hold in a network of its own with a socket, without bind and unknown calls', () => {
  expect(sandboxWalls('net:[4026532001] 1 1 38', MACHINE)).toEqual([
    { name: 'network', weakness: null, remedy: null },
    { name: 'system calls', weakness: null, remedy: null },
  ]);
});

test('names what does not hold', () => {
  expect(weak(`${MACHINE} 1 1 38`)).toEqual(['network']);
  expect(weak('net:[4026532001] 0 1 38')).toEqual(['network']);
  expect(weak('net:[4026532001] 1 0 38')).toEqual(['system calls']);
  expect(weak('net:[4026532001] 1 1 0')).toEqual(['system calls']);
  expect(weak('')).toEqual(['network', 'system calls']);
});

test('names few of many programs with the user of the web server', () => {
  expect(sharedUser([7])).toMatch(/: process 7\.$/);
  const many = Array.from({ length: 1_000 }, (_none, at) => at + 1);
  expect(sharedUser(many)).toMatch(/: process 1, 2, 3, 4, 5 and 995 more\.$/);
});
