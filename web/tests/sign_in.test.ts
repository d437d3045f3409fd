import { expect, test } from "vitest";
import { signInOf } from "../src/lib/sign_in";

test("a key in the fragment signs in, and does not stay in the address", () => {
  expect(signInOf("#key=rk_0123456789abcdef_aB-_9")).toEqual({ key: "rk_0123456789abcdef_aB-_9", rest: "#/" });
});

test("the screen behind the key stays", () => {
  expect(signInOf("#key=rk_1&recall?q=cat")).toEqual({ key: "rk_1", rest: "#/recall?q=cat" });
});

test("what is no key of a service is left alone", () => {
  for (const hash of ["", "#/", "#/chat?key=rk_1", "#key=", "#key=<script>", "#/key=rk_1"]) expect(signInOf(hash)).toBeNull();
});
