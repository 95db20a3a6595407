import { EXAMPLE_ID } from '../../../api/example-ids.ts';
import { component, Type, uuid } from '../../../api/schema.ts';
import { LONGEST_TEXT, siteTagsSchema } from '../site-tags/schema.ts';
import { MOST_TAGS_OF_ACCOUNT } from '../site-tags/tag-keys.ts';

const MOST_AT_ONCE = 500;

const tagText = (description: string) => Type.String({ maxLength: LONGEST_TEXT, description });

export const accountTagSchema = component(
  'AccountTag',
  Type.Object(
    {
      name: Type.String(),
      site_count: Type.Integer({ description: 'sites with this tag that you may see' }),
      install_count: Type.Integer({ description: 'their installs that you may see' }),
    },
    { description: 'A tag of sites, and thereby of their installs' },
  ),
  { name: 'Monthly care', site_count: 12, install_count: 20 },
);

export const accountTagListSchema = component(
  'AccountTagList',
  Type.Object({
    results: Type.Array(accountTagSchema, {
      description: `every tag in alphabetical order; an account has at most ${MOST_TAGS_OF_ACCOUNT}`,
    }),
  }),
  { results: [{ name: 'Monthly care', site_count: 12, install_count: 20 }] },
);

export const renameTagSchema = component(
  'RenameTag',
  Type.Object({
    name: tagText('the present tag, in any case'),
    new_name: tagText('if this tag exists, both become one'),
  }),
  { name: 'Monthly care', new_name: 'Care plan' },
);

export const removeTagSchema = component(
  'RemoveTag',
  Type.Object({ name: tagText('the tag, in any case') }),
  { name: 'Monthly care' },
);

const ids = (description: string) =>
  Type.Optional(Type.Array(uuid(), { maxItems: MOST_AT_ONCE, description }));

export const changeTagsSchema = component(
  'ChangeTags',
  Type.Object({
    add: Type.Optional(siteTagsSchema),
    remove: Type.Optional(siteTagsSchema),
    site_ids: ids(`up to ${MOST_AT_ONCE} sites`),
    install_ids: ids(`up to ${MOST_AT_ONCE} installs, whose sites change`),
  }),
  { add: ['Monthly care'], site_ids: [EXAMPLE_ID.site] },
);

export const removedTagSchema = component(
  'RemovedTag',
  Type.Object({
    site_count: Type.Integer({ description: 'sites that had the tag' }),
    site_ids: Type.Array(uuid(), { description: 'these sites, oldest first' }),
  }),
  { site_count: 1, site_ids: [EXAMPLE_ID.site] },
);

const taggedSite = component(
  'TaggedSite',
  Type.Object({
    site_id: uuid(),
    name: Type.String(),
    tags: Type.Array(Type.String()),
    former_tags: Type.Array(Type.String(), { description: 'those before the change' }),
  }),
  { site_id: EXAMPLE_ID.site, name: 'Shop', tags: ['Monthly care'], former_tags: [] },
);

export const changedTagsSchema = component(
  'ChangedTags',
  Type.Object({
    changed: Type.Array(taggedSite, { description: 'the sites whose tags changed' }),
    without_site: Type.Array(uuid(), { description: 'installs without a site, which have no tags' }),
  }),
  {
    changed: [{ site_id: EXAMPLE_ID.site, name: 'Shop', tags: ['Monthly care'], former_tags: [] }],
    without_site: [],
  },
);
