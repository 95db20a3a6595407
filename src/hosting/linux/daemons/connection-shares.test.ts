import { expect, it } from 'vitest';
import { busyConnections, type DatabaseConnection, halfOf } from './connection-shares.ts';

const connection = (id: string, user: string, usedMs: number): DatabaseConnection => ({
  id,
  user,
  thread: Number(id),
  usedMs,
});
const busy = (connections: DatabaseConnection[], before: Record<string, number> = {}) =>
  busyConnections(connections, {
    before: new Map(Object.entries(before)),
    elapsedMs: 1_000,
    processors: 2,
  }).map(({ id }) => id);

it('names all connections of a user who took more than half of the processors', () => {
  const shop = ['1', '2', '3'].map((id) => connection(id, 'shop', 400));
  expect(busy([...shop, connection('4', 'blog', 700)])).toEqual(['1', '2', '3']);
  expect(busy([...shop.slice(1), connection('4', 'blog', 700)])).toEqual([]);
});

it('counts only the time since the last look', () => {
  const shop = ['1', '2', '3'].map((id) => connection(id, 'shop', 1_500));
  expect(busy(shop, { 1: 1_200, 2: 1_200, 3: 1_200 })).toEqual([]);
  expect(busy(shop, { 1: 1_100, 2: 1_100, 3: 1_100 })).toEqual(['1', '2', '3']);
});

it('counts no more than the time since the last look for a thread that worked before', () => {
  expect(busy([connection('1', 'shop', 1_900)])).toEqual([]);
});

it('names a connection that took long, however slowly', () => {
  expect(busy([connection('1', 'shop', 1_990)], { 1: 1_980 })).toEqual([]);
  expect(busy([connection('1', 'shop', 2_000), connection('2', 'shop', 10)], { 1: 1_990 })).toEqual(['1']);
});

it('halves the processors, and leaves a single one alone', () => {
  expect(['0-1', '0-4', '2,5-7', '12', ''].map(halfOf)).toEqual(['0', '0,1', '2,5', null, null]);
});
