import { hosting } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { LinkButton } from './link-button.tsx';

/** A button that signs in to WordPress in a new tab, as the oldest administrator. */
export function WordPressSignIn({ installId }: { installId: string }) {
  return (
    <LinkButton
      again="sign in to WordPress again"
      createLink={() =>
        unwrap(
          hosting.POST('/installs/{install_id}/wordpress/login_links', {
            params: { path: { install_id: installId } },
            body: {},
          }),
        )
      }
    >
      Sign in to WordPress
    </LinkButton>
  );
}
