import { type QueryParameter, refusedQuery } from '../../../api/query.ts';
import { Type } from '../../../api/schema.ts';
import { keyOf, LONGEST_TAG, MOST_TAGS_OF_SITE } from './tag-keys.ts';

/** Longer texts are no tags, whatever is trimmed. */
export const LONGEST_TEXT = 200;

/** Tags in the body of a site. */
export const siteTagsSchema = Type.Array(Type.String({ maxLength: LONGEST_TEXT }), {
  maxItems: 5 * MOST_TAGS_OF_SITE,
  description: `all tags of the site: at most ${MOST_TAGS_OF_SITE} of ${LONGEST_TAG} characters`,
});

const LONGEST_FILTER = 1_000;

/** Tags separated by commas. Its value has their keys. */
export function tagsParameter(description: string): QueryParameter<'tags'> {
  return {
    name: 'tags',
    schema: { type: 'string', maxLength: LONGEST_FILTER, description },
    example: 'Monthly care',
    read(text) {
      const keys = [...new Set(text.split(',').map(keyOf))].filter((key) => key !== '');
      const isText = !/\p{Cc}/u.test(text) && text.isWellFormed();
      if (!isText || text.length > LONGEST_FILTER || keys.length === 0 || keys.length > MOST_TAGS_OF_SITE) {
        throw refusedQuery('tags', `tags must be 1 to ${MOST_TAGS_OF_SITE} tags, separated by commas`);
      }
      return keys.join(',');
    },
  };
}
