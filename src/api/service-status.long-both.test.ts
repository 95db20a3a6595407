import { afterAll, beforeAll, expect, it } from 'vitest';
import { databasePlace } from '../../test/database.ts';
import { startTestHomeport, type TestHomeport } from '../../test/homeport.ts';
import { type ManualClock, manualClock } from '../../test/manual-clock.ts';

let homeport: TestHomeport;
let clock: ManualClock;

beforeAll(async () => {
  clock = manualClock(new Date());
  homeport = await startTestHomeport({ clock });
});
afterAll(() => homeport.remove());

it('reports success and the time without authentication', async () => {
  const status = await homeport.anonymous.get('/status');
  expect(status.status).toBe(200);
  expect(status.body).toEqual({ success: true, created_on: clock.now().toISOString() });
  clock.advance(1_500);
  expect((await homeport.anonymous.get('/status')).body).toEqual({
    success: true,
    created_on: clock.now().toISOString(),
  });
  const { client } = await homeport.person();
  expect((await client.get('/status')).status).toBe(200);
  expect((await homeport.clientOf({ username: 'x', password: 'y' }).get('/status')).status).toBe(200);
});

it('answers 503 without a cause if the database does not answer', async () => {
  const place = await databasePlace();
  const other = await startTestHomeport({ place, roles: { api: true, hosting: false } });
  const isServer = other.platform.database.dialect === 'postgres';
  if (isServer) await place.remove();
  else await other.platform.database.close();
  const answer = await other.anonymous.get('/status');
  expect(answer).toMatchObject({ status: 503, body: { message: 'Service temporarily unavailable' } });
  expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  expect((await other.anonymous.get('/swagger')).status).toBe(200);
  await other.remove();
  if (!isServer) await place.remove();
});
