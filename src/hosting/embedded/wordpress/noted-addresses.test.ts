import { expect, test } from 'vitest';
import { addressesText, formerHostsIn } from './noted-addresses.ts';

test.each([
  ['https://shop.test', ['https://shop.test'], []],
  ['https://shop.test', ['http://shop.test'], ['shop.test']],
  // A certificate that expired can be renewed.
  ['http://shop.test', ['https://shop.test'], []],
  ['https://shop.test:8444', ['http://shop.test:8080'], ['shop.test:8080']],
  ['http://new.test', ['http://old.test', 'https://old.test:8444'], ['old.test', 'old.test:8444']],
  // As versions before 0.4 wrote them.
  ['https://shop.test', ['shop.test'], []],
  ['https://shop.test:8444', ['shop.test:8080', 'old.test'], ['shop.test:8080', 'old.test']],
  ['http://shop.test', ['a b', '://'], []],
])('URLs of %s differ from those of %j by the hosts %j', (origin, noted, former) => {
  expect(formerHostsIn(JSON.stringify(noted), origin)).toEqual(former);
});

test.each([null, '', '{', '{"a":1}', '[1]'])('the text %j names no addresses', (text) => {
  expect(formerHostsIn(text, 'http://shop.test')).toEqual([]);
});

test('what a website notes is its present address', () => {
  expect(formerHostsIn(addressesText('http://shop.test:8080'), 'http://shop.test:8080')).toEqual([]);
});
