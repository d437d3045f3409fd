/** The page's beginning. */

import { createRoot } from "react-dom/client";
import { askAhead, storeKey } from "./api/client";
import { App } from "./app";
import { routeOf } from "./lib/route";
import { AroundProvider } from "./lib/session";
import { signInByAddress } from "./lib/sign_in";
import { daysIn, momentsOf } from "./lib/time";
import { Boundary } from "./parts/boundary";
import "./style.css";

signInByAddress(storeKey);
// The address that other services have their routes described at.
if (/\/docs\/?$/.test(location.pathname) && !location.hash) history.replaceState(null, "", "#/api");
askAhead("me");
const { parts, scope, query } = routeOf(location.hash);
if (parts[0] === "chat") askAhead("threads", scope, { limit: 50 });
else if (!parts.length || parts[0] === "overview") askAhead("overview", scope, momentsOf(daysIn(query)));

const root = document.getElementById("root");
if (root) createRoot(root).render(<AroundProvider><Boundary about=""><App /></Boundary></AroundProvider>);
