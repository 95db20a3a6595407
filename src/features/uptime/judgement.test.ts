import { expect, it } from 'vitest';
import { isVisit } from '../../hosting/policy/usage/visitors.ts';
import { USER_AGENT } from '../../network/probe/ask-edge.ts';
import { faultOf, faultOfRedirect } from './judgement.ts';
import { consequenceOf } from './record-round.ts';

const NOW = new Date('2026-03-10T12:00:00.000Z');
const answer = {
  status: 200,
  location: null,
  isRedirect: false,
  retryAfter: null,
  body: '<title>Shop</title>',
  certificateEndsAt: null,
};
const CRITICAL = '<p>There has been a critical error on this website.</p>';

it.each([
  ['a page', {}],
  ['a password', { status: 401 }],
  ['a closed page', { status: 403 }],
  ['too many requests', { status: 429 }],
  ['maintenance', { status: 503, retryAfter: '600' }],
  ['maintenance until a time', { status: 503, retryAfter: 'Tue, 10 Mar 2026 13:00:00 GMT' }],
  ['a valid certificate', { certificateEndsAt: new Date('2026-03-10T12:00:01.000Z') }],
  [
    'a page about the sentence',
    { body: 'When I see "There has been a critical error on this website", I …' },
  ],
])('%s is up', (_, differs) => {
  expect(faultOf({ ...answer, ...differs }, NOW)).toBeNull();
});

it.each([
  ['status', { status: 500 }, 'The home page answered 500.'],
  ['status', { status: 404 }, 'The home page is missing (404).'],
  ['php', { body: ' ' }, 'The home page is empty.'],
  [
    'php',
    { body: '<b>Fatal error</b>:  Uncaught Error: x in /srv/a/wp-content/plugins/a/a.php:7\nStack trace' },
    'The home page shows an error of PHP: Uncaught Error: x in wp-content/plugins/a/a.php:7',
  ],
  ['status', { status: 503 }, 'The home page answered 503.'],
  ['status', { status: 503, retryAfter: '5' }, 'The home page answered 503.'],
  [
    'wordpress',
    { status: 500, body: CRITICAL },
    'WordPress answered 500: "There has been a critical error".',
  ],
  ['wordpress', { body: CRITICAL }, 'WordPress answered 200: "There has been a critical error".'],
  [
    'wordpress',
    { status: 500, body: '<h1>Error establishing a database connection</h1>' },
    'WordPress answered 500: it has no connection to its database.',
  ],
  ['certificate', { certificateEndsAt: NOW }, 'The certificate expired on 2026-03-10.'],
])('%s: %o', (cause, differs, message) => {
  expect(faultOf({ ...answer, ...differs }, NOW)).toEqual({ cause, message });
});

it('finds redirects that lead nowhere', () => {
  const redirect = (location: string | null) =>
    faultOfRedirect(
      { ...answer, status: 302, isRedirect: true, location: location === null ? null : new URL(location) },
      ['https://shop.test/', 'https://shop.test/en/'],
    );
  expect(redirect('https://shop.test/home/')).toBeNull();
  expect(redirect('https://shop.test/')).toEqual({
    cause: 'redirects',
    message: 'The redirects go in a circle: https://shop.test/ → https://shop.test/en/ → https://shop.test/.',
  });
  expect(redirect(null)).toMatchObject({ cause: 'redirects' });
  expect(redirect('https://shop.test/wp-admin/install.php')).toMatchObject({ cause: 'wordpress' });
});

it('takes two failures in a row for an incident, and a silent host after five minutes', () => {
  const gapMs = 150_000;
  const open = (secondsAgo: number, confirmed_at: string | null = null, cause = 'status') => ({
    cause,
    started_at: new Date(NOW.getTime() - secondsAgo * 1_000).toISOString(),
    confirmed_at,
  });
  const of = (cause: 'status' | 'host', incident?: ReturnType<typeof open>) =>
    consequenceOf({ cause }, incident, { at: NOW, gapMs });
  expect(of('status')).toBe('suspect');
  expect(of('status', open(60))).toBe('confirm');
  expect(of('status', open(3_600))).toBe('suspect');
  expect(of('status', open(60, NOW.toISOString()))).toBe('continue');
  expect(of('host')).toBe('suspect');
  expect(of('host', open(60))).toBe('wait');
  expect(of('host', open(299))).toBe('wait');
  expect(of('host', open(300))).toBe('confirm');
  expect(of('host', open(3_600))).toBe('suspect');
  expect(of('status', open(60, null, 'host'))).toBe('suspect');
  expect(of('status', open(60, NOW.toISOString(), 'host'))).toBe('continue');
});

it('counts for no visit', () => {
  expect(isVisit(USER_AGENT)).toBe(false);
});
