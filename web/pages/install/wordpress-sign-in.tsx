import { useMutation } from '@tanstack/react-query';
import { hosting } from '../../api/client.ts';
import { FormError, unwrap } from '../../api/failure.ts';
import { Button } from '../../components/button.tsx';
import { showFailure } from '../../components/toast.tsx';

const BLOCKED =
  'Your browser blocked the new tab. Allow pop-ups for this page, then sign in to WordPress again.';

/** A button that signs in to WordPress in a new tab, as the oldest administrator. */
export function WordPressSignIn({ installId }: { installId: string }) {
  const signIn = useMutation({
    async mutationFn(tab: Window) {
      const { url } = await unwrap(
        hosting.POST('/installs/{install_id}/wordpress/login_links', {
          params: { path: { install_id: installId } },
          body: {},
        }),
      );
      tab.location.replace(url);
    },
    onError(error, tab) {
      tab.close();
      showFailure(error);
    },
  });

  function openTab(): void {
    // Within the click, because browsers block tabs that open later. It gets no way back to this page.
    const tab = window.open('', '_blank');
    if (tab === null) {
      showFailure(new FormError(BLOCKED));
      return;
    }
    tab.opener = null;
    signIn.mutate(tab);
  }

  return (
    <Button pending={signIn.isPending} onClick={openTab}>
      Sign in to WordPress <span aria-hidden="true">↗</span>
      <span className="visually-hidden"> in a new tab</span>
    </Button>
  );
}
