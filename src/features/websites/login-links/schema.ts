import { component, Type, timestamp } from '../../../api/schema.ts';

export const createLoginLinkSchema = component(
  'CreateLoginLink',
  Type.Object({
    user: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 60,
        pattern: '^[^\\u0000-\\u001f\\u007f]*$',
        description: 'a user name of the WordPress; by default its oldest administrator',
      }),
    ),
  }),
  { user: 'admin' },
);

export const loginLinkSchema = component(
  'LoginLink',
  Type.Object(
    {
      url: Type.String({ format: 'uri', description: 'signs in once; it is a secret' }),
      expires_at: timestamp(),
    },
    { description: 'A link that signs in to WordPress' },
  ),
  {
    url: 'https://shop.example/.well-known/homeport-login?token=Zk3vPXo1JcVbPqjDWuBzLk2yq0mJrT4N5a6sE7fGhI0',
    expires_at: '2026-01-31T09:31:00.000Z',
  },
);
