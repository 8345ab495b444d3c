// Browsers run no workers of a page that lies on a disk; the search of the documentation is one. This stands in for it.

import "iframe-worker/shim";
