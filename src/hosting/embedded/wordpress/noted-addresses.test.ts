import { expect, test } from 'vitest';
import { addressesIn, addressesText, formerHosts } from './noted-addresses.ts';

test.each([
  ['https://shop.test', ['https://shop.test'], []],
  ['https://shop.test', ['http://shop.test'], ['shop.test']],
  // A certificate that expired can be renewed.
  ['http://shop.test', ['https://shop.test'], []],
  ['https://shop.test:8444', ['http://shop.test:8080'], ['shop.test:8080']],
  ['http://new.test', ['http://old.test', 'https://old.test:8444'], ['old.test', 'old.test:8444']],
  ['http://shop.test:8080', ['http://shop.test'], ['shop.test:80']],
  ['https://shop.test:8444', ['https://shop.test'], ['shop.test:443']],
  ['http://shop.test', ['http://shop.test:8080'], ['shop.test:8080']],
  // As versions before 0.4 wrote them.
  ['https://shop.test', ['shop.test'], []],
  ['https://shop.test:8444', ['shop.test:8080', 'old.test'], ['shop.test:8080', 'old.test']],
  ['http://shop.test', ['a b', '://'], []],
])('URLs of %s differ from those of %j by the hosts %j', (origin, noted, former) => {
  expect(formerHosts(noted, origin)).toEqual(former);
});

test.each([null, '', '{', '{"a":1}', '[1]'])('the text %j names no addresses', (text) => {
  expect(addressesIn(text)).toEqual([]);
});

test('what a website notes is its present address', () => {
  const noted = addressesIn(addressesText(['http://shop.test:8080']));
  expect(noted).toEqual(['http://shop.test:8080']);
  expect(formerHosts(noted, 'http://shop.test:8080')).toEqual([]);
});
