import { expect, it } from 'vitest';
import { tagReversals } from './tag-reversals.ts';

const site = (site_id: string, former_tags: string[], tags: string[]) => ({ site_id, former_tags, tags });

it('gives sites back what they lost, and takes what they gained, in one request for those alike', () => {
  expect(
    tagReversals([
      site('1', ['VIP'], ['Blog']),
      site('2', ['VIP', 'Care'], ['Blog', 'Care']),
      site('3', ['Blog', 'VIP'], ['Blog']),
      site('4', ['blog'], ['Blog']),
    ]),
  ).toEqual([
    { add: ['VIP'], remove: ['Blog'], site_ids: ['1', '2'] },
    { add: ['VIP'], remove: [], site_ids: ['3'] },
  ]);
});

it('sends at most 500 sites in a request', () => {
  const many = Array.from({ length: 501 }, (_, index) => site(`${index}`, [], ['Blog']));
  expect(tagReversals(many).map(({ site_ids }) => site_ids.length)).toEqual([500, 1]);
});
