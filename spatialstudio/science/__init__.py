"""The maths: pure functions, each naming its paper. numpy; torch only where gradients flow."""
