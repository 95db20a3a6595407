import { expect, test } from 'vitest';
import { readAddresses } from './page-addresses.ts';

const NAMES = ['shop.example', 'www.shop.example', '*.shop.example', 'xn--mnchen-3ya.example'];

test.each([
  ['/', ['/']],
  [' /news/ \r\n\n/news/\n/b?x=1', ['/news/', '/b?x=1']],
  ['https://www.shop.example/news/?page=2#top', ['/news/?page=2']],
  ['HTTP://Shop.Example:8080', ['/']],
  ['//shop.example/a', ['/a']],
  ['shop.example/a\nshop.example', ['/a', '/']],
  ['https://de.shop.example/a', ['/a']],
  ['https://münchen.example/straße', ['/stra%C3%9Fe']],
  ['/straße/a b/../c', ['/stra%C3%9Fe/c']],
  ['/contact.html', ['/contact.html']],
])('reads %j', (text, paths) => {
  expect(readAddresses(text, NAMES)).toEqual({ paths, errors: [] });
});

test.each([
  ['https://other.example/a', 'https://other.example/a is not an address of this website.'],
  ['https://a.b.shop.example/', 'https://a.b.shop.example/ is not an address of this website.'],
  ['other.example', 'other.example is not an address of this website.'],
  ['news', 'news is not the address of a page. Enter a path such as /news/.'],
  ['javascript:alert(1)', 'javascript:alert(1) is not the address of a page. Enter a path such as /news/.'],
  ['https://', 'https:// is not the address of a page. Enter a path such as /news/.'],
])('refuses %j', (text, error) => {
  expect(readAddresses(`/a\n${text}`, NAMES)).toEqual({ paths: ['/a'], errors: [error] });
});
