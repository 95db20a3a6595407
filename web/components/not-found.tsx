import { ApiFailure } from '../api/failure.ts';
import { ButtonLink } from './button.tsx';
import { useFocusOnMount } from './focus-on-mount.ts';
import { Page } from './page.tsx';

/** Returns whether a resource is missing or hidden from this user. The server does not distinguish the two. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiFailure && [403, 404].includes(error.status);
}

/** The page for a site, install or webhook that is missing or was deleted while open. */
export function NotFound({ what }: { what: 'Site' | 'Install' | 'Webhook' }) {
  const sentence = useFocusOnMount<HTMLParagraphElement>();
  return (
    <Page title={`${what} not found`}>
      <p ref={sentence} tabIndex={-1}>
        It was deleted, or you do not have access to it.
      </p>
      <div>
        <ButtonLink href="/">Go to sites</ButtonLink>
      </div>
    </Page>
  );
}
