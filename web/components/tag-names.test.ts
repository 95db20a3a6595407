import { expect, it } from 'vitest';
import { tagsIn } from './tag-names.ts';

it.each([
  ['', ''],
  [' , ', ''],
  ['VIP', 'VIP'],
  [' VIP , Monthly care,vip', 'vip,Monthly care'],
])('parses the tags %j of an address as %j', (asked, tags) => expect(tagsIn(asked)).toBe(tags));
