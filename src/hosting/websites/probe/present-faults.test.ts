import { expect, test } from 'vitest';
import type { Observation } from './observation.ts';
import { presentFaults } from './present-faults.ts';
import type { SeenPage } from './visited-page.ts';

const page: SeenPage = {
  name: 'the home page',
  path: '/',
  kind: 'visitor',
  status: 200,
  failure: null,
  length: 1000,
  parts: ['</html>'],
  errors: [],
  error: null,
  milliseconds: 100,
};
const fine: Observation = {
  pages: [page],
  missing: [],
  cron: null,
  comment: null,
  fatals: ['old'],
  state: {
    ...{ siteurl: '', home: '', template: '', stylesheet: '', plugins: [], hasPermalinks: true },
    ...{ post: null, page: null, upload: null, hasAdministrator: true, unwritable: null, rows: {} },
  },
  milliseconds: 10,
};

test('a website that works has no fault, nor have pages that were not asked', () => {
  const unasked = { ...page, name: 'the editor', status: null, failure: 'the check ended before' };
  const closed = { ...page, name: 'the REST API', path: '/wp-json/', kind: 'api' as const, status: 401 };
  expect(presentFaults({ ...fine, pages: [page, unasked, closed] })).toEqual([]);
});

test('all faults are listed, with the errors of PHP', () => {
  const broken = { ...page, name: 'the editor', status: 500, error: 'no in a.php:7' };
  const file: SeenPage = { ...page, name: 'the newest upload', path: '/u.png', kind: 'file', status: 404 };
  expect(
    presentFaults({ ...fine, pages: [page, broken, file], missing: ['/a.css', '/b.js'], state: null }),
  ).toEqual([
    'WordPress does not start',
    'the editor answers 500: no in a.php:7',
    'the newest upload answers 404',
    '2 scripts and stylesheets of its pages cannot be loaded, such as /a.css',
  ]);
});
