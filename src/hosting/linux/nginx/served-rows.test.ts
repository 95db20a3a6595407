import { expect, test } from 'vitest';
import { certificateId } from '../../policy/certificate-id.ts';
import { siteState } from '../../policy/edge.fixture.ts';
import { type EdgeRow, rowOf } from '../../policy/edge-row.ts';
import { createServedRows } from './served-rows.ts';

const certificate = { chain: 'c', key: 'k', notAfter: '2030-01-01T00:00:00.000Z' };
const used = certificateId(certificate);

function row(name: string, id: string, hostnames: Parameters<typeof siteState>[1]): EdgeRow {
  return rowOf(siteState(name, hostnames, { id: `${id.repeat(8)}-0000-4000-8000-000000000000` }), {
    home: '/h',
    root: '/h/r',
    php: null,
    uid: null,
    defaultDomain: `${name}.hosting.test`,
    s3: { endpoint: null, pathStyle: false },
  });
}

test('replacing a row frees its former names and certificates', () => {
  const rows = createServedRows();
  rows.set(row('one', 'a', [{ name: 'a.test', certificate }, 'b.test']));
  rows.set(row('two', 'b', [{ name: 'c.test', certificate }]));
  rows.set(row('one', 'a', ['b.test']));
  expect([rows.names().toSorted(), rows.usesCertificate(used)]).toEqual([['b.test', 'c.test'], true]);
  rows.set(row('two', 'b', []));
  expect([rows.usesCertificate(used), rows.all().length]).toEqual([false, 2]);
  expect(['a.test', 'b.test'].map(rows.holderOf)).toEqual([undefined, row('one', 'a', []).id]);
  rows.clear();
  expect([rows.names(), rows.all()]).toEqual([[], []]);
});
