import { component, Type, timestamp } from '../../../api/schema.ts';

export const databaseLinkSchema = component(
  'DatabaseLink',
  Type.Object(
    {
      url: Type.String({ format: 'uri', description: 'opens the database once; it is a secret' }),
      expires_at: timestamp(),
    },
    { description: 'A link that opens the database of an install in a browser' },
  ),
  {
    url: 'https://shop.example/.well-known/homeport-database/?token=1769851860.Zk3vPXo1JcVbPqjDWuBzLk2yq0mJrT4N5a6sE7fGhI0',
    expires_at: '2026-01-31T09:31:00.000Z',
  },
);
