import { component, stringEnum, Type } from '../../../api/schema.ts';
import {
  ITEM_KINDS,
  ITEM_SLUG,
  ITEM_STATUSES,
  LONGEST_PACKAGE_PATH,
  LONGEST_PACKAGE_URL,
} from '../../../hosting/contract/wordpress-changes.ts';

const kind = () => stringEnum(ITEM_KINDS);
const keep = Type.Optional(
  Type.Boolean({
    description:
      'whether it stays if pages only look different afterwards, such as a maintenance page; false by default',
  }),
);

export const changeItemSchema = component(
  'ChangeWordPressItem',
  Type.Object(
    {
      kind: kind(),
      id: Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: '^[^\\u0000-\\u001f\\u007f]*$',
        description: 'a plugin: its file (`akismet/akismet.php`) or folder (`akismet`); a theme: its folder',
      }),
      status: Type.Optional(
        stringEnum(
          ITEM_STATUSES,
          '`active`; `inactive`, for plugins only; `deleted`, with its data, if nothing uses it',
        ),
      ),
      auto_update: Type.Optional(Type.Boolean({ description: 'whether WordPress updates it automatically' })),
      keep,
    },
    { description: 'The wanted state of a plugin or theme; `status`, `auto_update` or both' },
  ),
  { kind: 'plugin', id: 'akismet/akismet.php', status: 'active' },
);

export const installItemSchema = component(
  'InstallWordPressItem',
  Type.Object(
    {
      kind: kind(),
      slug: Type.Optional(
        Type.String({ pattern: ITEM_SLUG, description: 'its name in the directory of wordpress.org' }),
      ),
      path: Type.Optional(
        Type.String({
          minLength: 9,
          maxLength: LONGEST_PACKAGE_PATH,
          pattern: '^private/[^\\u0000-\\u001f\\u007f]+$',
          description: 'a ZIP file in `private/`, uploaded by SFTP',
        }),
      ),
      url: Type.Optional(
        Type.String({
          maxLength: LONGEST_PACKAGE_URL,
          pattern: '^https://[^\\u0000-\\u0020\\u007f]+$',
          description: 'a public address of a ZIP file, with `https`',
        }),
      ),
      activate: Type.Optional(Type.Boolean({ description: 'false by default' })),
      keep,
    },
    { description: 'A plugin or theme to install, from exactly one of `slug`, `path` and `url`' },
  ),
  { kind: 'plugin', slug: 'akismet', activate: true },
);
