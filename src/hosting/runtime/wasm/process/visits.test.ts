import { EventEmitter } from 'node:events';
import { expect, it } from 'vitest';
import { createVisits } from './visits.ts';

const visitsWith = () => {
  const visits = createVisits();
  const left: string[] = [];
  const begin = (id: string) => {
    const response = new EventEmitter();
    visits.begin(id, () => left.push(id), response);
    return response;
  };
  return { visits, left, begin };
};

it('knows a visitor who leaves before or after their request has come', () => {
  const { visits, left, begin } = visitsWith();
  visits.leave('early');
  begin('early');
  begin('late');
  begin('other');
  visits.leave('late');
  expect(left).toEqual(['early', 'late']);
});

it('forgets requests that have ended, and the oldest of many messages without one', () => {
  const { visits, left, begin } = visitsWith();
  begin('one').emit('close');
  for (let count = 0; count < 1_001; count++) visits.leave(`none ${count}`);
  visits.leave('one');
  begin('none 0');
  begin('none 1000');
  expect(left).toEqual(['none 1000']);
});
