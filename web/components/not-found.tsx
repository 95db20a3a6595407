import { ApiFailure } from '../api/failure.ts';
import { ButtonLink } from './button.tsx';
import { useFocusOnMount } from './focus-on-mount.ts';
import { Page } from './page.tsx';

/** Whether what was asked for is not there, or not for this person to see; the server does not tell which. */
export function isNotFound(error: unknown): boolean {
  return error instanceof ApiFailure && [403, 404].includes(error.status);
}

/** The page in the place of a thing that is not there, or has gone from under whoever looked at it. */
export function NotFound({ what }: { what: 'site' | 'install' }) {
  const sentence = useFocusOnMount<HTMLParagraphElement>();
  return (
    <Page title={`There is no such ${what}`}>
      <p ref={sentence} tabIndex={-1}>
        It was deleted, or it is not yours to see.
      </p>
      <div>
        <ButtonLink href="/">Go to the sites</ButtonLink>
      </div>
    </Page>
  );
}
